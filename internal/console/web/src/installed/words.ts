import type { InstallRow, Stage } from '../api/types'
import { sentence } from '../states/words'

const states: Record<string, string> = {
  done: 'Done', waiting: 'Waiting', yourTurn: 'Your turn', failed: 'Failed', unknown: 'Not known',
}

export function stageInWords(state: string): string {
  return states[state] ?? state
}

// stateOf is the state of the whole, by its first stage that is not done.
export function stateOf({ stage }: InstallRow): string {
  return stage.state === 'done' ? 'Installed' : stageInWords(stage.state)
}

export function stagesInWords({ stage, of }: InstallRow): string {
  return `Stage ${stage.n} of ${of}, ${stage.name}`
}

export function said(stage: Stage): string {
  return `Stage ${stage.name}: ${stageInWords(stage.state)}. ${sentence(stage.sentence)}`
}

export function pathOf({ namespace, subscription }: { namespace: string; subscription: string }): string {
  return `/installed/${encodeURIComponent(namespace)}/${encodeURIComponent(subscription)}`
}

export function stageIsKnown({ state }: Stage): boolean {
  return state in states && state !== 'unknown'
}
