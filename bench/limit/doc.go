// Package limit measures what the hardware, the kernel and the compiler allow,
// with no log above them: go test -bench . ./bench/limit
//
// A benchmark that is named as one of package bench is the least that any engine
// would do for the same work which keeps a checksum of each batch and hands its
// bytes to the kernel: what is left out is everything else. Frames, which stand
// for batches, are made beforehand, and the memory of the files they go to has
// been touched, so that no page is waited for. The others are memcpy, checksum
// and hand-off alone.
//
// It uses the standard library and internal/vfs for mapping and syncing, and no
// code of the engine's.
package limit
