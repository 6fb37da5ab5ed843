import { Label, type LabelProps } from '@patternfly/react-core'
import CheckCircleIcon from '@patternfly/react-icons/dist/esm/icons/check-circle-icon'
import ExclamationCircleIcon from '@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon'
import HourglassHalfIcon from '@patternfly/react-icons/dist/esm/icons/hourglass-half-icon'
import QuestionCircleIcon from '@patternfly/react-icons/dist/esm/icons/question-circle-icon'
import UserIcon from '@patternfly/react-icons/dist/esm/icons/user-icon'

const looks: Record<string, Pick<LabelProps, 'color' | 'icon'>> = {
  done: { color: 'green', icon: <CheckCircleIcon /> },
  waiting: { color: 'blue', icon: <HourglassHalfIcon /> },
  yourTurn: { color: 'orange', icon: <UserIcon /> },
  failed: { color: 'red', icon: <ExclamationCircleIcon /> },
}

export function StateLabel({ state, children }: { state: string; children: string }) {
  const { color, icon } = looks[state] ?? { color: 'grey', icon: <QuestionCircleIcon /> }
  return <Label isCompact color={color} icon={icon}>{children}</Label>
}
