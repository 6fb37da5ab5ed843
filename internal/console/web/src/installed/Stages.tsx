import { ProgressStep, ProgressStepper, type ProgressStepProps } from '@patternfly/react-core'
import HourglassHalfIcon from '@patternfly/react-icons/dist/esm/icons/hourglass-half-icon'
import QuestionCircleIcon from '@patternfly/react-icons/dist/esm/icons/question-circle-icon'
import UserIcon from '@patternfly/react-icons/dist/esm/icons/user-icon'
import type { InstallDetail, Stage } from '../api/types'
import { Command } from '../states/Command'
import { NoRights } from '../states/NoRights'
import { isCommand, sentence, timeInWords } from '../states/words'
import { stageInWords } from './words'

const looks: Record<string, Pick<ProgressStepProps, 'variant' | 'icon'>> = {
  done: { variant: 'success' },
  waiting: { variant: 'info', icon: <HourglassHalfIcon /> },
  yourTurn: { variant: 'warning', icon: <UserIcon /> },
  failed: { variant: 'danger' },
}

// Stages are all stages of an install. Of those that it has not come to, only the name is known.
export function Stages({ install }: { install: InstallDetail }) {
  return (
    <ProgressStepper isVertical aria-label="Stages of the install">
      {install.stageNames.map((name, n) => {
        const stage = install.stages[n]
        const text = stage ? stageInWords(stage.state) : 'To come'
        const { variant, icon } = stage ? looks[stage.state] ?? { variant: 'default', icon: <QuestionCircleIcon /> } : { variant: 'pending' as const }
        return (
          <ProgressStep
            key={name}
            id={`stage-${n + 1}`}
            titleId={`stage-title-${n + 1}`}
            aria-label={`${name}: ${text}`}
            isCurrent={n + 1 === install.stage.n}
            variant={variant}
            icon={icon}
            description={stage && <Said stage={stage} />}
          >
            {sentence(name).replace(/\.$/, '')} <span className="tabard-state">{text}</span>
          </ProgressStep>
        )
      })}
    </ProgressStepper>
  )
}

function Said({ stage }: { stage: Stage }) {
  return (
    <div className="tabard-breaks">
      {sentence(stage.sentence)}
      {stage.since && <Since time={stage.since} />}
      {/* Others wrote a part of what the other stages say, and no Role is offered by their words. */}
      {stage.state === 'unknown' && <NoRights missing={stage.sentence} />}
      {stage.next && (isCommand(stage.next) ? <Command label="Next, type" command={stage.next} /> : <div>{sentence(stage.next)}</div>)}
    </div>
  )
}

function Since({ time }: { time: string }) {
  return <> <span className="tabard-small">Since <time dateTime={time}>{timeInWords(time)}</time>.</span></>
}
