import { Label, type LabelProps } from '@patternfly/react-core'
import CheckCircleIcon from '@patternfly/react-icons/dist/esm/icons/check-circle-icon'
import ExclamationCircleIcon from '@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon'
import MinusCircleIcon from '@patternfly/react-icons/dist/esm/icons/minus-circle-icon'
import QuestionCircleIcon from '@patternfly/react-icons/dist/esm/icons/question-circle-icon'
import { standingInWords } from './words'

const looks: Record<string, Pick<LabelProps, 'color' | 'icon'>> = {
  given: { color: 'green', icon: <CheckCircleIcon /> },
  without: { color: 'red', icon: <ExclamationCircleIcon /> },
  nobody: { color: 'grey', icon: <MinusCircleIcon /> },
}

export function StandingLabel({ standing }: { standing: string }) {
  const { color, icon } = looks[standing] ?? { color: 'orange', icon: <QuestionCircleIcon /> }
  return <Label isCompact color={color} icon={icon}>{standingInWords(standing)}</Label>
}
