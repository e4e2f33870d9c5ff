/** Settings of the commands that talk to a gateway; a server reads none of them. */
import { defineSetting, secret, text } from '../setting-type.ts'

export const commandLineSettings = {
  GATEHOUSE_URL: defineSetting(text, {
    without: 'the local data folder',
    sentence: 'the gateway that a command talks to',
    note: '[The command line](guides/command-line.md)',
  }),
  GATEHOUSE_API_KEY: defineSetting(secret, {
    without: 'none',
    sentence: 'the key that a command talks with',
  }),
}
