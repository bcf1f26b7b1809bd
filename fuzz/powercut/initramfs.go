package main

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// kernel is a kernel and the directory of its modules.
type kernel struct{ image, modules string }

// findKernel looks for one under each root, as a package lays it out.
func findKernel(roots ...string) (kernel, error) {
	for _, root := range roots {
		images, _ := filepath.Glob(root + "/boot/vmlinuz-*-cloud-amd64")
		slices.Sort(images)
		for _, image := range slices.Backward(images) {
			version := strings.TrimPrefix(filepath.Base(image), "vmlinuz-")
			for _, lib := range []string{"/lib/modules/", "/usr/lib/modules/"} {
				if modules := root + lib + version; isDir(modules) {
					return kernel{image, modules}, nil
				}
			}
		}
	}
	return kernel{}, fmt.Errorf("no boot/vmlinuz-*-cloud-amd64 with its modules under %s: -fetch gets one, or unpack Debian's linux-image-cloud-amd64 and give -kernel its directory", strings.Join(roots, " or "))
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// fetchKernel has apt-get download the kernel's package, as any user may, and
// unpacks it into dir.
func fetchKernel(dir string) error {
	out, err := exec.Command("apt-cache", "depends", "--important", "linux-image-cloud-amd64").Output()
	if err != nil {
		return fmt.Errorf("apt-cache: %w", err)
	}
	_, name, ok := strings.Cut(string(out), "Depends: ")
	if !ok {
		return fmt.Errorf("apt-cache knows no kernel for linux-image-cloud-amd64: %q", out)
	}
	name, _, _ = strings.Cut(name, "\n")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "powercut-kernel")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	for _, step := range [][]string{{"apt-get", "download", name}, {"sh", "-c", `dpkg-deb -x ./*.deb "$0"`, dir}} {
		cmd := exec.Command(step[0], step[1:]...)
		cmd.Dir = tmp
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", step, err, out)
		}
	}
	return nil
}

// withModules lists the files of the modules named and of those they need, in
// an order in which they can be loaded.
func (k kernel) withModules(names ...string) (files []string, err error) {
	byName := make(map[string]string)
	err = filepath.WalkDir(k.modules+"/kernel", func(path string, _ fs.DirEntry, err error) error {
		if name, ok := strings.CutSuffix(filepath.Base(path), ".ko"); ok {
			byName[strings.ReplaceAll(name, "-", "_")] = path
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var add func(name string) error
	add = func(name string) error {
		path, ok := byName[name]
		if !ok || slices.Contains(files, path) {
			return nil // it is built in, or listed
		}
		needs, err := dependsOn(path)
		if err != nil {
			return err
		}
		for _, n := range needs {
			if err := add(n); err != nil {
				return err
			}
		}
		files = append(files, path)
		return nil
	}
	for _, name := range names {
		if err := add(name); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// dependsOn is what a module says it needs.
func dependsOn(path string) ([]string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	section := f.Section(".modinfo")
	if section == nil {
		return nil, fmt.Errorf("%s is no module", path)
	}
	info, err := section.Data()
	if err != nil {
		return nil, err
	}
	for line := range bytes.SplitSeq(info, []byte{0}) {
		if list, ok := strings.CutPrefix(string(line), "depends="); ok && list != "" {
			return strings.Split(strings.ReplaceAll(list, "-", "_"), ","), nil
		}
	}
	return nil, nil
}

// initramfs is a cpio archive (newc) with the guest as its init and the modules.
func initramfs(guest string, modules []string) ([]byte, error) {
	var b bytes.Buffer
	number := 0
	add := func(name string, mode int, content []byte) {
		number++
		fmt.Fprintf(&b, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name)+1, 0)
		b.WriteString(name + "\x00")
		b.Write(make([]byte, -b.Len()&3))
		b.Write(content)
		b.Write(make([]byte, -b.Len()&3))
	}
	const directory, file = 0o040755, 0o100755
	for _, dir := range []string{"dev", "modules", "proc", "sys"} {
		add(dir, directory, nil)
	}
	for i, name := range append([]string{guest}, modules...) {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		in := "init"
		if i > 0 {
			in = fmt.Sprintf("modules/%02d-%s", i, filepath.Base(name))
		}
		add(in, file, content)
	}
	add("TRAILER!!!", 0, nil)
	return b.Bytes(), nil
}
