package producer

import "testing"

// The vectors are Java's Utils.murmur2.
func TestMurmur2(t *testing.T) {
	for key, want := range map[string]int32{
		"":                           275646681,
		"21":                         -973932308,
		"foobar":                     -790332482,
		"a-little-bit-long-string":   -985981536,
		"a-little-bit-longer-string": -1486304829,
		"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
		"abc":              479470107,
		"key":              -1079937367,
		"kafka":            -798503068,
		"\x00":             375494588,
		"\xff\xff\xff\xff": 644171429,
		"0":                971027396,
		"1":                -1993445489,
		"user-42":          1459644460,
	} {
		if got := Murmur2([]byte(key)); got != want {
			t.Errorf("Murmur2(%q) is %d, want %d", key, got, want)
		}
	}
}

func TestKeysGoWhereJavaPutsThem(t *testing.T) {
	for key, want := range map[string][3]int32{
		"foobar": {0, 6, 6}, "21": {0, 0, 0}, "key": {1, 1, 1}, "user-42": {1, 0, 4}, "abc": {0, 7, 3}, "kafka": {1, 0, 4},
	} {
		for i, partitions := range []int{3, 10, 12} {
			if got := byKey([]byte(key), partitions); got != want[i] {
				t.Errorf("key %q of %d partitions: %d, want %d", key, partitions, got, want[i])
			}
		}
	}
}
