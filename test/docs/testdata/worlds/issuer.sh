# Tabard is installed, and the cluster has no issuer yet.
eval "$(tabard lab env)"
kubectl apply -f "$ROOT/config/crd" -f "$ROOT/config/manifests" -f "$ROOT/config/rbac"
kubectl apply -f "$XDG_STATE_HOME/tabard/lab/manifests/webhook.yaml"
# Every role of the account needs this boundary.
aws iam create-policy --policy-name platform --policy-document '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}'
