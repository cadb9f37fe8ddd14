// Package requests writes requests.csv, which docs/reference/formats.md describes.
package requests

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"slices"
)

const header = "# tollbooth.requests v1\nuser,target,intended_ns,start_ns,end_ns,status,bytes\n"

// Row is one request. Times are Unix ns.
type Row struct {
	User                 int
	Target               string
	Intended, Start, End int64
	Status               int
	Bytes                int64
}

// Sort puts rows in the file's order: by their end.
func Sort(rows []Row) {
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(a.End, b.End) })
}

// Write writes the file under another name and renames it, so that a reader never sees a part of it.
func Write(path string, rows []Row) error {
	part := path + ".part"
	file, err := os.Create(part)
	if err != nil {
		return err
	}
	defer file.Close()
	buffered := bufio.NewWriter(file)
	fmt.Fprint(buffered, header)
	for _, row := range rows {
		fmt.Fprintf(buffered, "%d,%s,%d,%d,%d,%d,%d\n",
			row.User, row.Target, row.Intended, row.Start, row.End, row.Status, row.Bytes)
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	return os.Rename(part, path)
}
