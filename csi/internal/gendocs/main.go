// Command gendocs prints a generated page of the documentation: attributes or metrics.
package main

import (
	"fmt"
	"os"

	"posixgateway.io/csi/internal/attributes"
	"posixgateway.io/csi/internal/metrics"
)

func main() {
	pages := map[string]func() string{"attributes": attributes.Markdown, "metrics": metrics.Markdown}
	if len(os.Args) != 2 || pages[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: gendocs attributes|metrics")
		os.Exit(2)
	}
	fmt.Print(pages[os.Args[1]]())
}
