package fuzz

import (
	"math/rand/v2"
	"testing"
)

// FuzzOps: TestModel with the choices spelled by bytes.
func FuzzOps(f *testing.F) {
	for seed := range uint64(16) {
		r := rand.NewChaCha8([32]byte{byte(seed)})
		input := make([]byte, 64+64*seed)
		_, _ = r.Read(input)
		f.Add(input)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		newMachine(t, &bytesRead{rest: input[:min(len(input), 4<<10)]}).run()
	})
}
