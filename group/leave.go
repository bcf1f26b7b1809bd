package group

import "time"

// LeaveRequest is a LeaveGroup: of versions before 3 with one member.
type LeaveRequest struct {
	Group   string
	Members []Leaver
}

// Leaver is one who leaves. An administrator removes a static member by its
// instance id alone.
type Leaver struct {
	MemberID   string
	InstanceID *string
}

// LeaveResponse answers it. Before version 3 the one member's code is the
// answer's if that has none.
type LeaveResponse struct {
	Code    Code
	Members []Left
}

// Left is what became of one.
type Left struct {
	Leaver
	Code Code
}

// Leave lets members leave at once: the others rebalance without them.
func (c *Coordinator) Leave(now time.Time, r LeaveRequest) (response LeaveResponse) {
	c.now = now
	g, code := c.find(r.Group)
	if code != None && code != UnknownMemberID {
		return LeaveResponse{Code: code}
	}
	left := false
	for _, l := range r.Members {
		code := UnknownMemberID
		if g != nil {
			code = c.leave(g, l)
		}
		left = left || code == None
		response.Members = append(response.Members, Left{l, code})
	}
	if left {
		c.goOn(now, g)
	}
	return response
}

func (c *Coordinator) leave(g *group, l Leaver) Code {
	id := l.MemberID
	if _, pending := g.pending[id]; pending {
		delete(g.pending, id)
		return None
	}
	if id == "" && l.InstanceID != nil && g.statics[*l.InstanceID] != nil {
		id = g.statics[*l.InstanceID].id
	}
	if code := g.validate(id, l.InstanceID); code != None {
		return code
	}
	g.remove(g.byID[id])
	return None
}
