# The operator runs, and has published the issuer.
eval "$(tabard lab env)"
tabard lab run -n tabard-system deployment/tabard-issuer --detach tabard-issuer -- \
  "$XDG_STATE_HOME/programs/tabard" operator --controllers=issuer --metrics-bind-address=0 --health-probe-bind-address=0
kubectl apply -f ../issuer/issuer.yaml
kubectl wait --for=condition=Ready --timeout=120s oidcissuer --all
