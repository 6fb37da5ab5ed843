import type { ReactNode } from 'react'
import { ActionList, ActionListGroup, ActionListItem, Button, useWizardContext, WizardFooterWrapper } from '@patternfly/react-core'

interface Props { isFirst?: boolean; children: ReactNode }

// StepFooter has the button that goes on as its child. It always works: what is wrong, it says.
export function StepFooter({ isFirst = false, children }: Props) {
  const { goToPrevStep, close } = useWizardContext()
  return (
    <WizardFooterWrapper>
      <ActionList className="tabard-wraps">
        <ActionListGroup>
          {!isFirst && <ActionListItem><Button variant="secondary" onClick={() => void goToPrevStep()}>Back</Button></ActionListItem>}
          <ActionListItem>{children}</ActionListItem>
        </ActionListGroup>
        <ActionListGroup><ActionListItem><Button variant="link" onClick={close}>Cancel</Button></ActionListItem></ActionListGroup>
      </ActionList>
    </WizardFooterWrapper>
  )
}
