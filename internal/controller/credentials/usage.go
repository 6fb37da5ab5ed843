package credentials

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// usageEvery is how often the account's number of roles is read: an alert is to come before
// a crowd of requests has used up the quota, and one call in minutes is nothing to IAM.
const usageEvery = 5 * time.Minute

// followUsage reads now and again how many roles the account has, until the context ends.
func (c *Controller) followUsage(ctx context.Context, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	var logged string
	go wait.UntilWithContext(ctx, func(ctx context.Context) { logged = c.logUsage(ctx, c.ReadUsage(ctx), logged) }, usageEvery)
	return nil
}

// logUsage logs a failure that is another one than the last.
func (c *Controller) logUsage(ctx context.Context, err error, last string) string {
	if err == nil || ctx.Err() != nil {
		return ""
	}
	if err.Error() != last {
		ctrl.Log.WithName(Name).Error(err, "cannot read how many roles the account has and may have, so no metric says it; run tabard credentials bootstrap if its policy is older", "again", usageEvery)
	}
	return err.Error()
}

// ReadUsage reads how many roles the account has and may have, for the metrics. While AWS
// does not say it, they have no value: an old one would hide that the account fills up.
func (c *Controller) ReadUsage(ctx context.Context) error {
	usage, err := c.options.AWS.Roles.Usage(ctx, c.options.Operator)
	if err != nil {
		c.metrics.account(nil)
		return err
	}
	c.metrics.account(&usage)
	return nil
}
