package broker

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/log"
)

// identity is who the directory belongs to: as its meta.properties says or, of a
// new one, as it is made to say now.
func (b *Broker) identity() (*log.Meta, error) {
	c := b.config.Load()
	id, given := int32(c.int("node.id")), c.brokerValue(brokerKeys["node.id"]).Source != FromDefault
	if older := c.brokerValue(brokerKeys["broker.id"]); !given && older.Source != FromDefault {
		id, given = int32(c.int("broker.id")), true
	}
	name := filepath.Join(b.dir, kafkadir.MetaFile)
	if m := b.logs.Found().Meta; m != nil {
		if given && m.NodeID >= 0 && m.NodeID != id {
			return nil, fmt.Errorf("broker: %s belongs to node %d, and node.id is %d", name, m.NodeID, id)
		}
		known := *m
		if known.NodeID < 0 {
			known.NodeID = id
		}
		if known.ClusterID == "" {
			known.ClusterID = kafkadir.NewID().String()
		}
		if known != *m {
			return &known, kafkadir.WriteMeta(b.fsys, b.dir, &known)
		}
		return m, nil
	}
	if _, err := b.fsys.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("broker: %s cannot be made out, so it is not known whose directory this is: put it right or remove it (%w)",
			name, errors.Join(err, errors.New("its content is wrong")))
	}
	m := &log.Meta{Version: 1, NodeID: id, ClusterID: kafkadir.NewID().String(), DirectoryID: kafkadir.NewID().String()}
	return m, kafkadir.WriteMeta(b.fsys, b.dir, m)
}
