package differential

import (
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// versions are those that both brokers serve.
func (b *bench) versions() (map[int16][2]int16, error) {
	both := make(map[int16][2]int16)
	for i, broker := range b.brokers {
		resp, err := broker.admin.ask(kmsg.NewPtrApiVersionsRequest())
		if err != nil {
			return nil, err
		}
		served := make(map[int16][2]int16)
		for _, k := range resp.(*kmsg.ApiVersionsResponse).ApiKeys {
			v := [2]int16{k.MinVersion, k.MaxVersion}
			if k.ApiKey == kmsg.Produce.Int16() {
				v[0] = max(v[0], 3) // what is before is told for old clients, and not served
			}
			if i == 1 {
				other, ok := both[k.ApiKey]
				if !ok {
					continue
				}
				v = [2]int16{max(v[0], other[0]), min(v[1], other[1])}
			}
			served[k.ApiKey] = v
		}
		both = served
	}
	return both, nil
}

// warm has a broker make what it makes for the first group and the first producer.
func (b *broker) warm() error {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		find := kmsg.NewPtrFindCoordinatorRequest()
		find.CoordinatorKey = "warm"
		found, err := b.admin.ask(find)
		if err != nil {
			return err
		}
		all := true
		for i := range 20 {
			fetch := kmsg.NewPtrHeartbeatRequest()
			fetch.Group, fetch.MemberID = string(rune('a'+i)), "m"
			resp, err := b.admin.ask(fetch)
			if err != nil {
				return err
			}
			all = all && resp.(*kmsg.HeartbeatResponse).ErrorCode == 25 // UNKNOWN_MEMBER_ID
		}
		producer, err := b.admin.ask(kmsg.NewPtrInitProducerIDRequest())
		if err != nil {
			return err
		}
		if all && found.(*kmsg.FindCoordinatorResponse).ErrorCode == 0 && producer.(*kmsg.InitProducerIDResponse).ErrorCode == 0 {
			return nil
		}
	}
	return errors.New(b.name + " has no coordinators")
}
