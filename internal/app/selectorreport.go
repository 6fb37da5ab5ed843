package app

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tabard-dev/tabard/internal/controller/selectorreport"
)

func declareSelectorReport() *declaration {
	return &declaration{
		name: "selectorreport",
		does: "says who uses each IAMRoleSelector (IAMRoleSelectorReport); needs the feature gate " + selectorGate,
		off:  true,
		page: "role-selectors.md",
		lacks: map[part]string{
			alertsPart: "nothing depends on a report, so that a report that is late or missing harms nobody",
		},
		gated: true,
		add: func(_ context.Context, mgr ctrl.Manager, op *operator) error {
			selectors, err := op.roleSelectors.follow(mgr)
			if err != nil {
				return err
			}
			return selectorreport.Add(mgr, selectorreport.Options{Selectors: selectors})
		},
	}
}
