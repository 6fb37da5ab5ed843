import { Button } from '@patternfly/react-core'
import type { Operators } from '../api/types'
import type { Query } from '../lists/query'
import { count } from '../states/words'

export function matchingInWords({ matching, total, unknown, findingsTotal }: Operators): string {
  const known = `${matching.toLocaleString('en')} of ${count(total, 'package', 'packages')}`
  const text = findingsTotal > 0 ? `${known} of what could be read` : known
  return unknown > 0 ? `${text}; ${unknown.toLocaleString('en')} of which it is not known` : text
}

// Summary says what the list is a part of.
export function Summary({ data, query }: { data: Operators; query: Query }) {
  const all = query.get('all') === 'true'
  return (
    <div className="tabard-small">
      <p>{matchingInWords(data)}.</p>
      {all && <p>Packages that do not stand alone are shown too. <Switch to="" query={query}>Hide them</Switch></p>}
      {!all && data.notStandalone > 0 && (
        <p>
          {count(data.notStandalone, 'package that does', 'packages that do')} not stand alone
          {data.notStandalone === 1 ? ' is' : ' are'} not shown. <Switch to="true" query={query}>Show them</Switch>
        </p>
      )}
    </div>
  )
}

function Switch({ to, query, children }: { to: string; query: Query; children: string }) {
  return <Button variant="link" isInline onClick={() => query.set('all', to)}>{children}</Button>
}
