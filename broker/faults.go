package broker

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/log"
)

// Faults are what keeps a broker from serving what it should.
type Faults struct {
	// Directory is why the broker's directory cannot be used: it is not there any
	// more. nil if it can.
	Directory error
	// Failed are partitions whose log takes nothing more until the broker is
	// opened again (log.ErrFailed).
	Failed []Fault
	// Offline are partitions whose log could not be opened. Opening the broker
	// again does not change that: see "seglog repair".
	Offline []Fault
}

// Fault is one of a partition.
type Fault struct {
	Topic     string
	Partition int32
	Err       error
}

func (f Fault) String() string { return fmt.Sprintf("%s-%d: %v", f.Topic, f.Partition, f.Err) }

// Faults looks for what is wrong, in time in the number of partitions.
func (b *Broker) Faults() Faults {
	var f Faults
	if _, err := b.fsys.Stat(filepath.Join(b.dir, kafkadir.MetaFile)); err != nil {
		f.Directory = err
	}
	for _, t := range b.Topics() {
		for _, p := range t.Partitions() {
			switch l, err := p.Log(); {
			case t.Deleted():
			case err != nil:
				f.Offline = append(f.Offline, Fault{t.name, p.number, err})
			case errors.Is(l.Err(), log.ErrFailed):
				f.Failed = append(f.Failed, Fault{t.name, p.number, l.Err()})
			}
		}
	}
	return f
}
