import { Card, CardBody, CardTitle, Grid, GridItem, Stack, Title } from '@patternfly/react-core'
import type { Judgement } from '../api/types'
import { DifferenceTable } from '../operators/Differences'
import { JudgementView } from '../roles/JudgementView'

// OneUpgrade has what changes in what an operator asks for, beside whether its role allows that.
export function OneUpgrade({ judgement }: { judgement: Judgement }) {
  const { csv, from, changes } = judgement
  return (
    <Card isCompact>
      <CardTitle><Title headingLevel="h2" size="lg" className="tabard-breaks">{from ? `${from} → ${csv}` : `${csv}, new`}</Title></CardTitle>
      <CardBody>
        <Grid hasGutter>
          <GridItem xl={6}>
            <Stack hasGutter>
              <Title headingLevel="h3" size="md">What changes</Title>
              {changes.length > 0
                ? <DifferenceTable rows={changes} caption={from ? `From ${from} to ${csv}` : `What ${csv} asks for`} />
                : <p>{unchanged(judgement)}</p>}
            </Stack>
          </GridItem>
          <GridItem xl={6}><JudgementView judgement={judgement} /></GridItem>
        </Grid>
      </CardBody>
    </Card>
  )
}

function unchanged({ from, verdict }: Judgement): string {
  if (!from) return 'It is new. What it asks for is under the check.'
  return verdict === 'Unknown' ? 'Not known, or nothing.' : 'It asks the cloud for the same.'
}
