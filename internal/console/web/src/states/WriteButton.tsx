import { useId } from 'react'
import { Button, type ButtonProps } from '@patternfly/react-core'
import { useSession } from '../shell/session'

type Props = Omit<ButtonProps, 'isDisabled' | 'isAriaDisabled' | 'ref'> & { why?: string }

// WriteButton changes something in the cluster. Where it may not, it says why, and can still have
// the focus, so that everybody learns of it.
export function WriteButton({ why, ...props }: Props) {
  const id = useId()
  const reason = useSession()?.readOnly ? 'The console was started to read only.' : why
  return (
    <div className="tabard-install">
      <Button {...props} isAriaDisabled={Boolean(reason) || props.isLoading} aria-describedby={reason ? id : undefined} />
      {reason && <p id={id} className="tabard-small tabard-breaks">{reason}</p>}
    </div>
  )
}
