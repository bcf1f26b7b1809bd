package group

import (
	"slices"
	"strings"
)

// Description is a group as DescribeGroups answers. One that does not exist is
// Dead, and in version 6 and later GROUP_ID_NOT_FOUND.
type Description struct {
	Code                   Code
	Group                  string
	State                  State
	ProtocolType, Protocol string // the protocol of a stable group
	Members                []DescribedMember
}

// DescribedMember is one of it. Metadata is there in a stable group only.
type DescribedMember struct {
	MemberID             string
	InstanceID           *string
	ClientID, ClientHost string
	Metadata, Assignment []byte
}

// Describe describes a group. What it returns must not be changed.
func (c *Coordinator) Describe(id string) Description {
	d := Description{Code: c.serving(), Group: id, State: Dead}
	g := c.groups[id]
	if d.Code != None || g == nil {
		return d
	}
	d.State, d.ProtocolType = g.state, g.protocolType
	if g.state == Stable {
		d.Protocol = g.protocol
	}
	for _, m := range g.members {
		dm := DescribedMember{MemberID: m.id, InstanceID: m.instance, ClientID: m.clientID, ClientHost: m.clientHost, Assignment: m.assignment}
		if g.state == Stable {
			dm.Metadata = m.metadata(g.protocol)
		}
		d.Members = append(d.Members, dm)
	}
	return d
}

// Listed is a group as ListGroups answers. Its type is "classic".
type Listed struct {
	Group, ProtocolType string
	State               State
}

// List lists the groups in states and of types, by name, whatever the case of
// these; no states are all, no types too.
func (c *Coordinator) List(states, types []string) ([]Listed, Code) {
	if code := c.serving(); code != None {
		return nil, code
	}
	among := func(names []string, name string) bool {
		return len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
	}
	var list []Listed
	for _, g := range c.inOrder() {
		if among(states, g.state.String()) && among(types, "classic") {
			list = append(list, Listed{g.id, g.protocolType, g.state})
		}
	}
	return list, None
}
