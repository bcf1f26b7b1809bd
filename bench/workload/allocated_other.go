//go:build !unix

package workload

import "io/fs"

func allocated(info fs.FileInfo) int64 { return info.Size() }
