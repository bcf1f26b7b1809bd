package group

import "strconv"

// Code is an error code of the Kafka protocol.
type Code int16

// The codes that a coordinator answers.
const (
	None                      Code = 0
	UnknownServerError        Code = -1
	OffsetMetadataTooLarge    Code = 12
	CoordinatorLoadInProgress Code = 14
	CoordinatorNotAvailable   Code = 15
	NotCoordinator            Code = 16
	IllegalGeneration         Code = 22
	InconsistentGroupProtocol Code = 23
	InvalidGroupID            Code = 24
	UnknownMemberID           Code = 25
	InvalidSessionTimeout     Code = 26
	RebalanceInProgress       Code = 27
	InvalidCommitOffsetSize   Code = 28
	NonEmptyGroup             Code = 68
	GroupIDNotFound           Code = 69
	MemberIDRequired          Code = 79
	GroupMaxSizeReached       Code = 81
	FencedInstanceID          Code = 82
	GroupSubscribedToTopic    Code = 86
	UnstableOffsetCommit      Code = 88
)

// The codes with which a log may refuse records, beside None.
const (
	UnknownTopicOrPartition      Code = 3
	NotLeaderOrFollower          Code = 6
	RequestTimedOut              Code = 7
	MessageTooLarge              Code = 10
	RecordListTooLarge           Code = 18
	InvalidFetchSize             Code = 4
	KafkaStorageError            Code = 56
	NotEnoughReplicas            Code = 19
	NotEnoughReplicasAfterAppend Code = 20
)

var codeNames = map[Code]string{
	None: "NONE", UnknownServerError: "UNKNOWN_SERVER_ERROR", OffsetMetadataTooLarge: "OFFSET_METADATA_TOO_LARGE",
	CoordinatorLoadInProgress: "COORDINATOR_LOAD_IN_PROGRESS", CoordinatorNotAvailable: "COORDINATOR_NOT_AVAILABLE",
	NotCoordinator: "NOT_COORDINATOR", IllegalGeneration: "ILLEGAL_GENERATION", InconsistentGroupProtocol: "INCONSISTENT_GROUP_PROTOCOL",
	InvalidGroupID: "INVALID_GROUP_ID", UnknownMemberID: "UNKNOWN_MEMBER_ID", InvalidSessionTimeout: "INVALID_SESSION_TIMEOUT",
	RebalanceInProgress: "REBALANCE_IN_PROGRESS", InvalidCommitOffsetSize: "INVALID_COMMIT_OFFSET_SIZE", NonEmptyGroup: "NON_EMPTY_GROUP",
	GroupIDNotFound: "GROUP_ID_NOT_FOUND", MemberIDRequired: "MEMBER_ID_REQUIRED", GroupMaxSizeReached: "GROUP_MAX_SIZE_REACHED",
	FencedInstanceID: "FENCED_INSTANCE_ID", GroupSubscribedToTopic: "GROUP_SUBSCRIBED_TO_TOPIC", UnstableOffsetCommit: "UNSTABLE_OFFSET_COMMIT",
	NotEnoughReplicas: "NOT_ENOUGH_REPLICAS", NotEnoughReplicasAfterAppend: "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
	UnknownTopicOrPartition: "UNKNOWN_TOPIC_OR_PARTITION", NotLeaderOrFollower: "NOT_LEADER_OR_FOLLOWER", RequestTimedOut: "REQUEST_TIMED_OUT",
	MessageTooLarge: "MESSAGE_TOO_LARGE", RecordListTooLarge: "RECORD_LIST_TOO_LARGE", InvalidFetchSize: "INVALID_FETCH_SIZE",
	KafkaStorageError: "KAFKA_STORAGE_ERROR",
}

// String is Kafka's name of the code.
func (c Code) String() string {
	if s, ok := codeNames[c]; ok {
		return s
	}
	return "error " + strconv.Itoa(int(c))
}

// ofLog is what a group answers when its log has refused records.
func ofLog(c Code) Code {
	switch c {
	case UnknownTopicOrPartition, NotEnoughReplicas, NotEnoughReplicasAfterAppend, RequestTimedOut:
		return CoordinatorNotAvailable
	case NotLeaderOrFollower, KafkaStorageError:
		return NotCoordinator
	case MessageTooLarge, RecordListTooLarge, InvalidFetchSize:
		return UnknownServerError
	}
	return c
}

// ofLogForOffsets is the same for a commit.
func ofLogForOffsets(c Code) Code {
	switch c {
	case MessageTooLarge, RecordListTooLarge, InvalidFetchSize:
		return InvalidCommitOffsetSize
	}
	return ofLog(c)
}
