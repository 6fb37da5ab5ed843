import type { ReactNode } from 'react'
import { ActionList, ActionListGroup, ActionListItem, Button, useWizardContext, WizardFooterWrapper } from '@patternfly/react-core'
import { useInstall } from './context'

interface Props { isFirst?: boolean; children: ReactNode }

// StepFooter has the button that goes on as its child. It always works: what is wrong, it says. Back
// and Cancel do nothing while the install is written.
export function StepFooter({ isFirst = false, children }: Props) {
  const { goToPrevStep, close } = useWizardContext()
  const { busy } = useInstall().writing
  return (
    <WizardFooterWrapper>
      <ActionList className="tabard-wraps">
        <ActionListGroup>
          {!isFirst && <ActionListItem><Button variant="secondary" isAriaDisabled={busy} onClick={() => void goToPrevStep()}>Back</Button></ActionListItem>}
          <ActionListItem>{children}</ActionListItem>
        </ActionListGroup>
        <ActionListGroup><ActionListItem><Button variant="link" isAriaDisabled={busy} onClick={close}>Cancel</Button></ActionListItem></ActionListGroup>
      </ActionList>
    </WizardFooterWrapper>
  )
}
