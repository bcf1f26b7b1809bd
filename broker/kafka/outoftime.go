package kafka

// outOfTime says whether a request leaves Kafka's controller no time: then all that
// it asks for is REQUEST_TIMED_OUT, be it wrong or twice, and nothing is done. The
// controller is not asked, and so not too late, where times has nothing that is in
// the request once.
func outOfTime[K comparable](timeoutMillis int32, times map[K]int) bool {
	if timeoutMillis > 0 {
		return false
	}
	for _, n := range times {
		if n == 1 {
			return true
		}
	}
	return false
}
