package console

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
)

// recovered makes a panic of the function that defers it an error. What it was, and where, is in the log: the
// answer has nothing of it.
func recovered(log *slog.Logger, err *error) {
	broken := recover()
	if broken == nil {
		return
	}
	log.Error("the console has a fault", "panic", fmt.Sprint(broken), "stack", string(debug.Stack()))
	*err = &Problem{Status: http.StatusInternalServerError, Code: "fault", Title: "The console has a fault",
		Detail: "the console has a fault: its log says what and where, on the standard error of the program"}
}

// safely runs a function, whose panic is an error.
func (s *Server) safely(run func()) (err error) {
	defer recovered(s.Audit, &err)
	run()
	return nil
}
