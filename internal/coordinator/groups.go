package coordinator

// groupRecord is a kind of record of the groups of KIP-848 (consumer), KIP-932
// (share) and KIP-1071 (streams). Keys are in the fixed form, values, of which
// there is a version 0 only, in the flexible one.
type groupRecord struct{ key, value schema }

var (
	ofGroup  = structOf(f("groupId", text))
	ofMember = structOf(f("groupId", text), f("memberId", text))

	assignmentMetadata = structOf(f("assignmentEpoch", i32), tagged(0, "assignmentTimestamp", i64))
	topicsOf           = list(structOf(f("topicId", uuid), f("partitions", list(i32))))
	topicsWithEpochs   = list(structOf(f("topicId", uuid), f("partitions", list(i32)), tagged(0, "assignmentEpochs", list(i32))))
	namedTopics        = list(structOf(f("topicId", uuid), f("topicName", text), f("partitions", list(i32))))
	tasks              = list(structOf(f("subtopologyId", text), f("partitions", list(i32))))
	tasksWithEpochs    = list(structOf(f("subtopologyId", text), f("partitions", list(i32)), tagged(0, "assignmentEpochs", list(i32))))
	pairs              = list(structOf(f("key", text), f("value", text)))
	topologyTopics     = list(structOf(f("name", text), f("partitions", i32), f("replicationFactor", i16), f("topicConfigs", pairs)))
)

// groupRecords are by the type of their key. 9 and 18 were never released.
var groupRecords = map[int16]groupRecord{
	3: {ofGroup, structOf(f("epoch", i32), tagged(0, "metadataHash", i64))},
	4: {ofGroup, structOf(f("topics", list(structOf(f("topicId", uuid), f("topicName", text), f("numPartitions", i32),
		f("partitionMetadata", list(structOf(f("partition", i32), f("racks", list(text)))))))))},
	5: {ofMember, structOf(f("instanceId", maybeText), f("rackId", maybeText), f("clientId", text), f("clientHost", text),
		f("subscribedTopicNames", list(text)), f("subscribedTopicRegex", maybeText), f("rebalanceTimeoutMs", i32), f("serverAssignor", maybeText),
		tagged(0, "classicMemberMetadata", maybeTagged(structOf(f("sessionTimeoutMs", i32),
			f("supportedProtocols", list(structOf(f("name", text), f("metadata", blob))))))))},
	6: {ofGroup, assignmentMetadata},
	7: {ofMember, structOf(f("topicPartitions", topicsOf))},
	8: {ofMember, structOf(f("memberEpoch", i32), f("previousMemberEpoch", i32), f("state", i8),
		f("assignedPartitions", topicsWithEpochs), f("partitionsPendingRevocation", topicsWithEpochs))},
	10: {ofMember, structOf(f("rackId", maybeText), f("clientId", text), f("clientHost", text), f("subscribedTopicNames", list(text)))},
	11: {ofGroup, structOf(f("epoch", i32), f("metadataHash", i64))},
	12: {ofGroup, assignmentMetadata},
	13: {ofMember, structOf(f("topicPartitions", topicsOf))},
	14: {ofMember, structOf(f("memberEpoch", i32), f("previousMemberEpoch", i32), f("state", i8), f("assignedPartitions", topicsOf))},
	15: {ofGroup, structOf(f("initializingTopics", namedTopics), f("initializedTopics", namedTopics),
		f("deletingTopics", list(structOf(f("topicId", uuid), f("topicName", text)))))},
	16: {structOf(f("groupId", text), f("regularExpression", text)),
		structOf(f("topics", list(text)), f("version", i64), f("timestamp", i64))},
	17: {ofGroup, structOf(f("epoch", i32), f("metadataHash", i64), tagged(0, "validatedTopologyEpoch", i32), tagged(1, "lastAssignmentConfigs", pairs),
		tagged(2, "storedDescriptionTopologyEpoch", i32), tagged(3, "failedDescriptionTopologyEpoch", i32))},
	19: {ofMember, structOf(f("instanceId", maybeText), f("rackId", maybeText), f("clientId", text), f("clientHost", text), f("rebalanceTimeoutMs", i32),
		f("topologyEpoch", i32), f("processId", text), f("userEndpoint", maybe(structOf(f("host", text), f("port", u16)))), f("clientTags", pairs))},
	20: {ofGroup, assignmentMetadata},
	21: {ofMember, structOf(f("activeTasks", tasks), f("standbyTasks", tasks), f("warmupTasks", tasks))},
	22: {ofMember, structOf(f("memberEpoch", i32), f("previousMemberEpoch", i32), f("state", i8),
		f("activeTasks", tasksWithEpochs), f("standbyTasks", tasksWithEpochs), f("warmupTasks", tasksWithEpochs),
		f("activeTasksPendingRevocation", tasksWithEpochs), f("standbyTasksPendingRevocation", tasksWithEpochs),
		f("warmupTasksPendingRevocation", tasksWithEpochs))},
	23: {ofGroup, structOf(f("epoch", i32), f("subtopologies", list(structOf(f("subtopologyId", text), f("sourceTopics", list(text)),
		f("sourceTopicRegex", list(text)), f("stateChangelogTopics", topologyTopics), f("repartitionSinkTopics", list(text)),
		f("repartitionSourceTopics", topologyTopics), f("copartitionGroups", list(structOf(f("sourceTopics", list(i16)),
			f("sourceTopicRegex", list(i16)), f("repartitionSourceTopics", list(i16)))))))))},
}

// schemas are those of the record as decode wants them.
func (g groupRecord) schemas() (key func(*reader) any, value func(*reader, int16) any) {
	return g.key, func(r *reader, version int16) any {
		if version != 0 {
			return nil
		}
		r.flexible = true
		return g.value(r)
	}
}
