import { Link, useSearchParams } from 'react-router-dom'
import { Button, FlexItem } from '@patternfly/react-core'
import type { Operator } from '../api/types'
import { sentence } from '../states/words'

// InstallButton says why it does nothing. It can have the focus, so that everybody learns of it.
export function InstallButton({ operator }: { operator: Operator }) {
  const [params] = useSearchParams()
  const version = params.get('version')
  if (!operator.cannotInstall) {
    const to = `/operators/${encodeURIComponent(operator.id)}/install${version ? `?${new URLSearchParams({ version })}` : ''}`
    return <FlexItem><Button variant="primary" component={(props) => <Link {...props} to={to} />}>Install</Button></FlexItem>
  }
  return (
    <FlexItem className="tabard-install">
      <Button variant="primary" isAriaDisabled aria-describedby="install-why">Install</Button>
      <p id="install-why" className="tabard-small tabard-breaks">{sentence(operator.cannotInstall)}</p>
    </FlexItem>
  )
}
