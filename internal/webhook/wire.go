package webhook

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// The numbers of the fields that are read here. Kubernetes: generated.proto of
// apimachinery's runtime and meta/v1, and of core/v1; they never change.
const (
	unknownRaw = 2 // of runtime.Unknown, the envelope of everything

	eventType     = 1 // of meta/v1.WatchEvent
	eventObject   = 2
	extensionRaw  = 1 // of runtime.RawExtension, the event's object
	objectMeta    = 1 // of every object
	listMeta      = 1 // of every list
	listItem      = 2
	listVersion   = 2 // of meta/v1.ListMeta
	metaName      = 1 // of meta/v1.ObjectMeta
	metaNamespace = 3
	metaVersion   = 6
	metaCreated   = 8
	metaLabel     = 11 // one label
	metaNote      = 12 // one annotation
	timeSeconds   = 1  // of meta/v1.Time
	entryKey      = 1  // of every map's entries
	entryValue    = 2
)

// envelope begins everything that an API server writes in protobuf.
var envelope = []byte("k8s\x00")

var errNotProtobuf = errors.New("expected an object in Kubernetes' protobuf")

// field is one field of a message: of a text or a message its bytes, of a number
// the number. Fixed-size numbers do not occur in what is read here.
type field struct {
	number protowire.Number
	bytes  []byte
	value  uint64
}

// nextField takes the first field off a message. The bytes are the message's.
func nextField(message []byte) (found field, rest []byte, err error) {
	number, kind, n := protowire.ConsumeTag(message)
	if n < 0 {
		return field{}, nil, fmt.Errorf("%w: %w", errNotProtobuf, protowire.ParseError(n))
	}
	found.number, rest = number, message[n:]
	switch kind {
	case protowire.BytesType:
		found.bytes, n = protowire.ConsumeBytes(rest)
	case protowire.VarintType:
		found.value, n = protowire.ConsumeVarint(rest)
	default:
		n = protowire.ConsumeFieldValue(number, kind, rest)
	}
	if n < 0 {
		return field{}, nil, fmt.Errorf("%w: %w", errNotProtobuf, protowire.ParseError(n))
	}
	return found, rest[n:], nil
}

// bytesOf is the last field of that number in a message, nil without one.
func bytesOf(message []byte, number protowire.Number) (found []byte, err error) {
	for one := (field{}); len(message) > 0; {
		if one, message, err = nextField(message); err != nil {
			return nil, err
		}
		if one.number == number {
			found = one.bytes
		}
	}
	return found, nil
}

// opened is what is in an envelope.
func opened(text []byte) ([]byte, error) {
	message, ok := bytes.CutPrefix(text, envelope)
	if !ok {
		return nil, errNotProtobuf
	}
	return bytesOf(message, unknownRaw)
}

// object is what is read of an object of any kind. Its bytes are those of the
// message that it was read from.
type object struct {
	namespace, name, version []byte
	// created is in seconds since 1970.
	created int64
	// meta and message are the ObjectMeta and the whole.
	meta, message []byte
}

func readObject(message []byte) (found object, err error) {
	found.message = message
	if found.meta, err = bytesOf(message, objectMeta); err != nil {
		return object{}, err
	}
	for one, rest := (field{}), found.meta; len(rest) > 0; {
		if one, rest, err = nextField(rest); err != nil {
			return object{}, err
		}
		switch one.number {
		case metaName:
			found.name = one.bytes
		case metaNamespace:
			found.namespace = one.bytes
		case metaVersion:
			found.version = one.bytes
		case metaCreated:
			if found.created, err = readSeconds(one.bytes); err != nil {
				return object{}, err
			}
		}
	}
	return found, nil
}

func readSeconds(message []byte) (seconds int64, err error) {
	for one := (field{}); len(message) > 0; {
		if one, message, err = nextField(message); err != nil {
			return 0, err
		}
		if one.number == timeSeconds {
			seconds = int64(one.value) //nolint:gosec // protobuf writes negative numbers so
		}
	}
	return seconds, nil
}

// eachAnnotation calls with every annotation of an object.
func (o object) eachAnnotation(call func(name, value []byte)) error {
	return eachEntry(o.meta, metaNote, call)
}

// eachLabel calls with every label of an object.
func (o object) eachLabel(call func(name, value []byte)) error {
	return eachEntry(o.meta, metaLabel, call)
}

// eachEntry calls with every entry of the map in that field of a message.
func eachEntry(message []byte, number protowire.Number, call func(name, value []byte)) error {
	for one, rest := (field{}), message; len(rest) > 0; {
		var err error
		if one, rest, err = nextField(rest); err != nil {
			return err
		}
		if one.number != number {
			continue
		}
		name, err := bytesOf(one.bytes, entryKey)
		if err != nil {
			return err
		}
		value, err := bytesOf(one.bytes, entryValue)
		if err != nil {
			return err
		}
		call(name, value)
	}
	return nil
}

// maxObject bounds one object in bytes: more than etcd stores of one.
const maxObject = 8 << 20

// messages reads protobuf as it arrives, so that no list has to fit into memory.
type messages struct {
	source *bufio.Reader
	// left is how many bytes of the message are still to come.
	left   uint64
	buffer []byte
}

// ReadByte is for varints.
func (m *messages) ReadByte() (byte, error) {
	if m.left == 0 {
		return 0, errNotProtobuf
	}
	m.left--
	return m.source.ReadByte()
}

// next reads the number of the next field, which must be a text or a message,
// and its length in bytes.
func (m *messages) next() (number protowire.Number, length uint64, err error) {
	tag, err := binary.ReadUvarint(m)
	if err != nil {
		return 0, 0, err
	}
	number, kind := protowire.DecodeTag(tag)
	if kind != protowire.BytesType {
		return 0, 0, errNotProtobuf
	}
	length, err = binary.ReadUvarint(m)
	if err == nil && length > m.left {
		err = errNotProtobuf
	}
	return number, length, err
}

// take reads so many bytes. They are good until the next call.
func (m *messages) take(length uint64) ([]byte, error) {
	if length > maxObject {
		return nil, fmt.Errorf("an object has %d bytes, expected at most %d", length, maxObject)
	}
	if uint64(cap(m.buffer)) < length {
		m.buffer = make([]byte, 2*length)
	}
	taken := m.buffer[:length]
	m.left -= length
	_, err := io.ReadFull(m.source, taken)
	return taken, err
}

// readList calls with every item of a list, whose bytes are good only for the
// call, and returns the list's version.
func readList(source io.Reader, call func(object) error) (version string, err error) {
	reader := &messages{source: bufio.NewReaderSize(source, 32<<10), left: 1 << 62}
	if begin, err := reader.take(uint64(len(envelope))); err != nil || !bytes.Equal(begin, envelope) {
		return "", errors.Join(errNotProtobuf, err)
	}
	for {
		number, length, err := reader.next()
		if err != nil {
			return "", err
		}
		if number == unknownRaw {
			reader.left = length
			break
		}
		if _, err := reader.take(length); err != nil {
			return "", err
		}
	}
	for reader.left > 0 {
		number, length, err := reader.next()
		if err != nil {
			return "", err
		}
		message, err := reader.take(length)
		if err != nil {
			return "", err
		}
		switch number {
		case listMeta:
			text, err := bytesOf(message, listVersion)
			if err != nil {
				return "", err
			}
			version = string(text)
		case listItem:
			item, err := readObject(message)
			if err != nil {
				return "", err
			}
			if err := call(item); err != nil {
				return "", err
			}
		}
	}
	return version, nil
}

// readEvents calls with every event of a watch, whose bytes are good only for
// the call, until the source ends. What ends between two events is no error.
func readEvents(source io.Reader, call func(kind string, message []byte) error) error {
	reader := &messages{source: bufio.NewReaderSize(source, 4<<10)}
	for {
		var size [4]byte
		if _, err := io.ReadFull(reader.source, size[:]); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		frame, err := reader.take(uint64(binary.BigEndian.Uint32(size[:])))
		if err != nil {
			return err
		}
		kind, err := bytesOf(frame, eventType)
		if err != nil {
			return err
		}
		extension, err := bytesOf(frame, eventObject)
		if err != nil {
			return err
		}
		text, err := bytesOf(extension, extensionRaw)
		if err != nil {
			return err
		}
		message, err := opened(text)
		if err != nil {
			return err
		}
		if err := call(string(kind), message); err != nil {
			return err
		}
	}
}
