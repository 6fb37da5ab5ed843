package awsauth

import "time"

// Observer is told what happens, for metrics. Its methods are called from many
// goroutines and must not wait.
type Observer interface {
	// Built says that a configuration was made, or could not be.
	Built(method string, err error)
	// Cached is how many configurations are kept.
	Cached(configurations int)
	// Displaced says that credentials which were still good were forgotten, because
	// more are in use than are kept: Options has Cached and InUse.
	Displaced()
	// Refreshed says that credentials were fetched, or could not be; the code is
	// AWS's, empty for success. They expire at expires, zero for never.
	Refreshed(method, code string, expires time.Time)
	// Called says that a service was called once, how long the answer took, and
	// its error code: empty for success, "-" for no answer.
	Called(service, operation, code string, took time.Duration)
}

// deaf is the Observer of nobody.
type deaf struct{}

func (deaf) Built(string, error)                          {}
func (deaf) Cached(int)                                   {}
func (deaf) Displaced()                                   {}
func (deaf) Refreshed(string, string, time.Time)          {}
func (deaf) Called(string, string, string, time.Duration) {}
