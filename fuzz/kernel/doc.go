// Package kernel has no code of its own: it is where logs meet a real kernel that
// does not do them a favour. Processes are killed, disks are full to the last
// byte, files are cut, replaced and made unreadable under a log that runs, and so is its directory,
// descriptors run out, and two processes want one directory.
//
//	go test ./fuzz/kernel                                # a slice of each
//	go test ./fuzz/kernel -run TestTorture -rounds 500
//	go test ./fuzz/kernel -run TestFull -fillings 20 -v   # on what real file systems it says
//	go test ./fuzz/kernel -run TestCutAtEachCall -every 1
//
// What a power cut does is asked in package powercut.
package kernel
