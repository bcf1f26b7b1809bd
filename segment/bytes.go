package segment

// Bytes is the published log in the mapping's own memory, nothing of it
// verified: for who has verified it before. It is valid until Release, and
// touching it may fault: see vfs.Guard.
func (p Pin) Bytes() []byte { return p.r.log[:p.size:p.size] }
