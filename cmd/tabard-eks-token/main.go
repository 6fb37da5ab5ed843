// Command tabard-eks-token makes tokens for EKS clusters, and does nothing else. See
// tabard-eks-token --help.
package main

import (
	"os"

	"github.com/tabard-dev/tabard/internal/app/ekstoken"
)

func main() { os.Exit(ekstoken.Main(os.Args[1:])) }
