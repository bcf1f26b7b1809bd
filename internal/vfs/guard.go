package vfs

import (
	"errors"
	"fmt"
	"runtime/debug"
	"unsafe"
)

// ErrFault says that mapped memory could not be touched.
var ErrFault = errors.New("memory fault: file cut or device error")

// FaultError is how a guarded function reports ErrFault.
type FaultError struct {
	Addr uintptr // of the byte that could not be touched
}

func (e *FaultError) Error() string {
	return fmt.Sprintf("%v (address %#x)", ErrFault, e.Addr)
}

// Unwrap makes errors.Is find ErrFault.
func (e *FaultError) Unwrap() error { return ErrFault }

// Position is the index in mapped, the Bytes of a mapping, of the byte that
// could not be touched; false when it lies outside. It need not be the first
// such byte: copying may begin at the end.
func (e *FaultError) Position(mapped []byte) (int64, bool) {
	at := e.Addr - uintptr(unsafe.Pointer(unsafe.SliceData(mapped)))
	return int64(at), at < uintptr(len(mapped))
}

// Guard and Unguard turn a fault in mapped memory into an error of the
// function that touched it, where it would otherwise end the process:
//
//	func (s *Segment) read(...) (err error) {
//		defer vfs.Unguard(vfs.Guard(), &err)
//		...
//	}
//
// It holds for this goroutine and until the function returns. Guards nest.
// They allocate nothing and cost a few nanoseconds (BenchmarkGuard), so the
// place for one is around a batch, not around a byte.
//
// A fault leaves a store half done; whatever was being written must be treated
// as not written. Locks held at the fault are released only by defer.
func Guard() (previous bool) { return debug.SetPanicOnFault(true) }

// Unguard ends a Guard; see there. It must be deferred itself, not called by a
// deferred function, or it cannot recover. Panics other than faults go on.
func Unguard(previous bool, err *error) {
	debug.SetPanicOnFault(previous)
	v := recover()
	if v == nil {
		return
	}
	// Only the runtime's own error for a fault carries an address.
	fault, ok := v.(interface {
		error
		Addr() uintptr
		RuntimeError()
	})
	if !ok {
		panic(v)
	}
	*err = &FaultError{Addr: fault.Addr()}
}
