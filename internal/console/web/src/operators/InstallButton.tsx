import { Link, useSearchParams } from 'react-router-dom'
import { Button, FlexItem } from '@patternfly/react-core'
import type { Operator } from '../api/types'
import { sentence } from '../states/words'

// InstallButton says why it does nothing. It can have the focus, so that everybody learns of it. The
// files for a role can be made in any case.
export function InstallButton({ operator }: { operator: Operator }) {
  const [params] = useSearchParams()
  const version = params.get('version')
  const page = `/operators/${encodeURIComponent(operator.id)}`
  const asked = version ? `?${new URLSearchParams({ version })}` : ''
  return (
    <FlexItem className="tabard-install">
      {operator.cannotInstall
        ? <Button variant="primary" isAriaDisabled aria-describedby="install-why">Install</Button>
        : <Button variant="primary" component={(props) => <Link {...props} to={`${page}/install${asked}`} />}>Install</Button>}
      {' '}
      <Button variant="secondary" component={(props) => <Link {...props} to={`${page}/handoff${asked}`} />}>Hand-off</Button>
      {operator.cannotInstall && <p id="install-why" className="tabard-small tabard-breaks">{sentence(operator.cannotInstall)}</p>}
    </FlexItem>
  )
}
