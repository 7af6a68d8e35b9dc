package parquetsink

import (
	"encoding/binary"
	"errors"
)

var errCompact = errors.New("broken metadata")

const maxNesting = 32 // of structs, lists and maps in metadata

// A compact checks metadata, which is Thrift's compact protocol, before the Parquet library reads it: that library makes room for a list as
// long as it says it is, whether or not its members follow.
type compact struct {
	data []byte
	at   int
}

// Types of the protocol.
const (
	compactTrue = iota + 1
	compactFalse
	compactByte
	compact16
	compact32
	compact64
	compactDouble
	compactBinary
	compactList
	compactSet
	compactMap
	compactStruct
)

// structSize returns the length of the struct that data begins with. The error says that it is broken, or goes on behind data.
func structSize(data []byte) (int, error) {
	c := compact{data: data}
	if err := c.object(0); err != nil {
		return 0, err
	}
	return c.at, nil
}

func (c *compact) object(depth int) error {
	for depth <= maxNesting {
		head, err := c.byte()
		if err != nil || head == 0 {
			return err
		}
		if head>>4 == 0 { // the number of the field follows
			if _, err := c.varint(); err != nil {
				return err
			}
		}
		if kind := head & 15; kind == compactTrue || kind == compactFalse {
			continue // that is the value
		}
		if err := c.value(head&15, depth); err != nil {
			return err
		}
	}
	return errCompact
}

func (c *compact) value(kind byte, depth int) error {
	switch kind {
	case compactTrue, compactFalse, compactByte:
		return c.skip(1)
	case compact16, compact32, compact64:
		_, err := c.varint()
		return err
	case compactDouble:
		return c.skip(8)
	case compactBinary:
		n, err := c.varint()
		if err != nil {
			return err
		}
		return c.skip(n)
	case compactStruct:
		return c.object(depth + 1)
	case compactList, compactSet:
		head, err := c.byte()
		if err != nil {
			return err
		}
		n := uint64(head >> 4)
		if n == 15 {
			if n, err = c.varint(); err != nil {
				return err
			}
		}
		return c.members(n, depth, head&15)
	case compactMap:
		n, err := c.varint()
		if err != nil || n == 0 {
			return err
		}
		kinds, err := c.byte()
		if err != nil {
			return err
		}
		return c.members(n, depth, kinds>>4, kinds&15)
	}
	return errCompact
}

// members reads n values of each kind in turn. All have at least one byte, so n is not trusted for long.
func (c *compact) members(n uint64, depth int, kinds ...byte) error {
	if depth > maxNesting {
		return errCompact
	}
	for range n {
		for _, kind := range kinds {
			if err := c.value(kind, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *compact) byte() (byte, error) {
	if c.at == len(c.data) {
		return 0, errCompact
	}
	c.at++
	return c.data[c.at-1], nil
}

func (c *compact) varint() (uint64, error) {
	v, n := binary.Uvarint(c.data[c.at:])
	if n <= 0 {
		return 0, errCompact
	}
	c.at += n
	return v, nil
}

func (c *compact) skip(n uint64) error {
	if n > uint64(len(c.data)-c.at) {
		return errCompact
	}
	c.at += int(n)
	return nil
}
