// Package calls is tests alone: each call that an operation makes of the file
// system fails, with each error and each short transfer there is, and what the
// operation's documentation promises is held against what is there then. It fails
// once; or one of the next calls fails as well, of the clean-up it may be; or what
// made it fail stays until the operation is over.
//
//	go test ./fuzz/calls                  a sample, the same one each time
//	go test ./fuzz/calls -all -timeout 3h every operation, call, error and mode
//	go test ./fuzz/calls -all -mode twice one of the modes: once, twice, stays
//	go test ./fuzz/calls -all -within 60s -seed 0   any, as many as there is time for
//	go test ./fuzz/calls -seed 7          another sample; 0 is a new one, told by its seed
//	go test ./fuzz/calls -run 'TestEachCall/append$/^rolls$' -call 20 -error ENOSPC -mode once -v
//
// An operation is run once without a fault to list its calls. Then for every
// call and error, on a fresh copy of the same state:
//
//   - the operation reports the error, and none that says something else; or the
//     call is in the table of those that may be absorbed, with a reason, and what
//     it was to do is done in the end (allowed_test.go);
//   - what can be seen, of records, watermarks, producers, transactions and
//     epochs, is what it was before or what it is after the operation;
//   - the way on works: the same call again on the same handle, or after ErrFailed,
//     or a failed Open or Close, opening again. So does appending then, and opening
//     once more repairs nothing;
//   - a failed sync is final, what had been durable is there after the process was
//     killed, after the power was cut, and after the kernel dropped the pages that
//     it failed to write;
//   - nothing stays open, mapped, locked or running.
package calls
