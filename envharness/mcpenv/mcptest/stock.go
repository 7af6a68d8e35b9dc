package mcptest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A stock is the world of a server.
type stock struct {
	file string

	mu    sync.Mutex
	items []Item
}

// A record is what the file holds.
type record struct {
	Items []Item `json:"items"`
}

func openStock(o *Options) (*stock, error) {
	s := &stock{file: o.File, items: slices.Clone(o.Items)}
	if s.file == "" {
		return s, nil
	}
	raw, err := os.ReadFile(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("mcptest: stock: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	var r record
	if err := dec.Decode(&r); err != nil {
		return nil, fmt.Errorf("mcptest: stock %s: %w", s.file, err)
	}
	s.items = r.Items
	return s, nil
}

// list returns the items that keep says to, in order; never nil.
func (s *stock) list(keep func(Item) bool) []Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := make([]Item, 0, len(s.items))
	for _, it := range s.items {
		if keep(it) {
			items = append(items, it)
		}
	}
	return items
}

// get returns an item. An error here and in change is a refusal.
func (s *stock) get(name string) (Item, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.index(name)
	if i < 0 {
		return Item{}, noItem(name)
	}
	return s.items[i], nil
}

func (s *stock) index(name string) int {
	return slices.IndexFunc(s.items, func(it Item) bool { return it.Name == name })
}

func noItem(name string) error { return fmt.Errorf("no item %q", name) }

// create adds an item.
func (s *stock) create(it Item) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index(it.Name) >= 0 {
		return fmt.Errorf("item %q exists", it.Name)
	}
	return s.save(append(slices.Clone(s.items), it))
}

// change edits an item and returns what it has become.
func (s *stock) change(name string, edit func(*Item)) (Item, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.index(name)
	if i < 0 {
		return Item{}, noItem(name)
	}
	items := slices.Clone(s.items)
	edit(&items[i])
	return items[i], s.save(items)
}

// remove deletes an item and returns what it was.
func (s *stock) remove(name string) (Item, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.index(name)
	if i < 0 {
		return Item{}, noItem(name)
	}
	it := s.items[i]
	return it, s.save(slices.Delete(slices.Clone(s.items), i, i+1))
}

// save makes items the stock, in the file first: a process that is killed in between leaves the old file or the new one.
func (s *stock) save(items []Item) error {
	if s.file != "" {
		raw, err := json.Marshal(record{items})
		if err != nil {
			return err
		}
		if err := replaceFile(s.file, append(raw, '\n')); err != nil {
			return err
		}
	}
	s.items = items
	return nil
}

func replaceFile(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// matching says whether the query is part of the name or the shelf, in any case of letters.
func matching(query string) func(Item) bool {
	query = strings.ToLower(query)
	return func(it Item) bool {
		return strings.Contains(strings.ToLower(it.Name), query) || strings.Contains(strings.ToLower(it.Shelf), query)
	}
}
