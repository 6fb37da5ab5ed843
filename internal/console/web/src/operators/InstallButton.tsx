import { Button, FlexItem } from '@patternfly/react-core'
import type { Operator } from '../api/types'
import { sentence } from '../states/words'

// InstallButton says why it does nothing. It can have the focus, so that everybody learns of it.
export function InstallButton({ operator }: { operator: Operator }) {
  const why = operator.cannotInstall ? sentence(operator.cannotInstall) : `Type: tabard operators install ${operator.package}`
  return (
    <FlexItem className="tabard-install">
      <Button variant="primary" isAriaDisabled aria-describedby="install-why">Install</Button>
      <p id="install-why" className="tabard-small tabard-breaks">{why}</p>
    </FlexItem>
  )
}
