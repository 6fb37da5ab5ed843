package command

import (
	"context"
	"errors"
	"net"
	"net/url"
	"slices"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/cli/usage"
)

// CodeOf is the exit code of an error, the same in every command; otherwise is that of errors that
// say nothing of themselves. Who answered no counts more than what the answer was about: a command
// that may not read an object cannot know whether its name was wrong.
func CodeOf(err error, otherwise int) int {
	if err == nil {
		return usage.Fine
	}
	if said, is := errors.AsType[*Exit](err); is {
		return said.Code
	}
	switch {
	case errors.Is(err, context.Canceled):
		return usage.Interrupted
	case unanswered(err):
		return usage.Refused
	case usage.IsWrong(err):
		return usage.Unusable
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.EIO): // of the output
		return usage.Refused
	}
	return otherwise
}

// unanswered says that a cluster or a cloud refused a request, failed at it, or did not answer.
func unanswered(err error) bool {
	if api, is := errors.AsType[interface {
		error
		apierrors.APIStatus
	}](err); is && slices.Contains(refusing, api.Status().Reason) {
		return true
	}
	// That of smithy, which AWS's clients return for each answer that is an error.
	if _, is := errors.AsType[interface {
		error
		ErrorCode() string
		ErrorMessage() string
	}](err); is {
		return true
	}
	if at, is := errors.AsType[*url.Error](err); is {
		return at.Op != "parse"
	}
	_, is := errors.AsType[*net.OpError](err)
	return is || errors.Is(err, context.DeadlineExceeded)
}

// refusing are the reasons of an API server that is asked for something sensible and does not do it.
// What is not found or not valid may have been typed wrongly, which each command knows.
var refusing = []metav1.StatusReason{
	metav1.StatusReasonUnauthorized, metav1.StatusReasonForbidden, metav1.StatusReasonConflict, metav1.StatusReasonTimeout,
	metav1.StatusReasonServerTimeout, metav1.StatusReasonTooManyRequests, metav1.StatusReasonInternalError, metav1.StatusReasonServiceUnavailable,
}
