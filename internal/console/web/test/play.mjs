// Plays one scenario in Chromium, and prints what is wrong:
//
//   node test/play.mjs NAME < GIVEN
//
// GIVEN is JSON: the address that the console printed, the directory for pictures, and data for the
// scenario. Exit code 0: nothing is wrong; 1: something is.
import { text } from 'node:stream/consumers'
import { launch } from './browser.mjs'
import { Scenario } from './scenario.mjs'

const name = process.argv[2]
const given = JSON.parse(await text(process.stdin))
const browser = await launch()
const scenario = new Scenario(browser, name, given)
try {
  const { default: play } = await import(`./scenarios/${name}.mjs`)
  await play(scenario, given.data ?? {})
} catch (error) {
  scenario.fault(error.stack)
  await scenario.picture('failed').catch(() => {})
}
await browser.close()
for (const fault of new Set(scenario.faults())) console.log(fault)
process.exitCode = scenario.faults().length > 0 ? 1 : 0
