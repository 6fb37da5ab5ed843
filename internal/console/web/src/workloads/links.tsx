import type { ReactNode } from 'react'
import CheckCircleIcon from '@patternfly/react-icons/dist/esm/icons/check-circle-icon'
import EllipsisHIcon from '@patternfly/react-icons/dist/esm/icons/ellipsis-h-icon'
import MinusIcon from '@patternfly/react-icons/dist/esm/icons/minus-icon'
import QuestionCircleIcon from '@patternfly/react-icons/dist/esm/icons/question-circle-icon'
import TimesCircleIcon from '@patternfly/react-icons/dist/esm/icons/times-circle-icon'
import type { Explanation, Step } from '../api/types'

// Look is how a link is shown. Behind the first broken link nothing is called sound.
export type Look = 'sound' | 'broken' | 'unseen' | 'unreached' | 'unasked' | 'behind'

export type Link = Pick<Step, 'link' | 'name' | 'state'>

export interface LinkShown<L extends Link = Step> { step: L; look: Look; isFirstBroken: boolean; isBehind: boolean }

const looks: Record<Look, { word: string; icon: ReactNode }> = {
  sound: { word: 'Sound', icon: <CheckCircleIcon /> },
  broken: { word: 'Broken', icon: <TimesCircleIcon /> },
  unseen: { word: 'Not seen', icon: <QuestionCircleIcon /> },
  unreached: { word: 'Not reached', icon: <EllipsisHIcon /> },
  unasked: { word: 'Not looked at', icon: <MinusIcon /> },
  behind: { word: 'Behind it', icon: <EllipsisHIcon /> },
}

export function linksOf({ links, first }: Explanation): LinkShown[] {
  const broken = links.findIndex(({ link }) => link === first?.link)
  return links.map((step, n) => {
    const isBehind = broken >= 0 && n > broken
    return { step, look: lookOf(step.state, isBehind), isFirstBroken: n === broken, isBehind }
  })
}

// linksOfCluster are links of which each was judged by itself, so that none is behind another.
export function linksOfCluster<L extends Link>(links: L[]): LinkShown<L>[] {
  const broken = links.findIndex(({ state }) => state === 'broken')
  return links.map((step, n) => ({ step, look: lookOf(step.state, false), isFirstBroken: n === broken, isBehind: false }))
}

function lookOf(state: string, isBehind: boolean): Look {
  if (state === 'sound') return isBehind ? 'behind' : 'sound'
  return state in looks ? state as Look : 'unreached'
}

export function lookInWords(look: Look): string {
  return looks[look].word
}

export function LinkIcon({ look }: { look: Look }) {
  return <span className="tabard-link-icon" aria-hidden>{looks[look].icon}</span>
}
