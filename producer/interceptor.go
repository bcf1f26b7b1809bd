package producer

// Interceptor sees every record on its way out and its end
// (interceptor.classes, KIP-42). Either func may be nil. An error is logged, and
// everything goes on as if there were no such interceptor.
type Interceptor struct {
	// OnSend is called by Send before anything else, and may change the
	// record: what it returns is given to the next interceptor.
	OnSend func(Record) (Record, error)
	// OnAck is called when the record was acknowledged or failed, before its
	// callback and like it. Of a record refused before it got a partition
	// the delivery has partition 0.
	OnAck func(Delivery, error) error
}

// intercept is the record as the interceptors leave it.
func (p *Producer) intercept(r Record) Record {
	for i := range p.opts.Interceptors {
		if on := p.opts.Interceptors[i].OnSend; on != nil {
			if next, err := on(r); err == nil {
				r = next
			} else {
				p.opts.Logger.Warn("producer: an interceptor failed", "on", "send", "interceptor", i, "topic", r.Topic, "error", err)
			}
		}
	}
	return r
}

// acknowledged wraps a callback in the interceptors', nil if there is nobody to
// tell.
func (p *Producer) acknowledged(told func(Delivery, error)) func(Delivery, error) {
	if !p.intercepted {
		return told
	}
	return func(d Delivery, err error) {
		for i := range p.opts.Interceptors {
			if on := p.opts.Interceptors[i].OnAck; on != nil {
				if failed := on(d, err); failed != nil {
					p.opts.Logger.Warn("producer: an interceptor failed", "on", "acknowledgement", "interceptor", i, "topic", d.Topic, "error", failed)
				}
			}
		}
		if told != nil {
			told(d, err)
		}
	}
}
