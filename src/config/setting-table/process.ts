import { LOG_LEVELS } from '../../contract/log-levels.ts'
import { isNewKey } from '../../core/api-key.ts'
import { choice, count, defineSetting, port, secret, text } from '../setting-type.ts'

export const processSettings = {
  GATEHOUSE_HOST: defineSetting(text, { default: '127.0.0.1', sentence: 'address to listen on' }),
  GATEHOUSE_PORT: defineSetting(port, {
    default: 4_000,
    sentence: 'port to listen on; 0: any free port',
  }),
  GATEHOUSE_DATA_DIR: defineSetting(text, {
    default: './data',
    sentence: 'folder for the database and the journal',
    note: '[Contents](operations/configure.md#files)',
  }),
  GATEHOUSE_WORKERS: defineSetting(
    { ...count(1, 1_024), type: 'integerOrAuto' },
    {
      default: 1,
      sentence: 'processes that share the port; auto: one per core',
      note: '[All cores of one machine](operations/several-nodes.md#all-cores-of-one-machine)',
    },
  ),
  GATEHOUSE_CONFIG: defineSetting(text, {
    without: 'gatehouse.yaml in the data folder, if it exists',
    sentence: 'configuration file',
    note: '[Contents](operations/configure.md#the-configuration-file)',
  }),
  GATEHOUSE_LOG_LEVEL: defineSetting(choice(LOG_LEVELS), {
    default: 'info',
    sentence: 'lowest level that is logged',
    note:
      'Overrides `logLevel` of the [configuration ' +
      'file](operations/configure.md#the-configuration-file)',
  }),
  GATEHOUSE_BOOTSTRAP_KEY: defineSetting(
    {
      ...secret,
      form: { accepts: isNewKey, is: '`sk-svc-` followed by 64 hexadecimal characters' },
    },
    {
      without: 'one is created, and printed once',
      sentence: 'a key `sk-svc-…` to accept as the first one',
      note: 'One that was deleted is ignored with a warning',
    },
  ),
  GATEHOUSE_MASTER_KEY: defineSetting(secret, {
    without: 'master.key in the data folder, created when it is needed',
    sentence:
      'encrypts stored credentials, signs sessions: 32 bytes, as 64 ' +
      'hexadecimal characters or base64',
    note: '[Master key](operations/master-key.md)',
  }),
  GATEHOUSE_MASTER_KEY_PREVIOUS: defineSetting(secret, {
    without: 'none',
    sentence: 'previous master keys, separated by commas; used only to decrypt',
  }),
}

export const commandLineSettings = {
  GATEHOUSE_URL: defineSetting(text, {
    without: 'the local data folder',
    sentence: 'the gateway that a command talks to',
    note: '[The command line](guides/command-line.md)',
  }),
  GATEHOUSE_API_KEY: defineSetting(secret, {
    without: 'none',
    sentence: 'API key that a command uses',
  }),
  GATEHOUSE_TOKEN: defineSetting(secret, {
    without: 'asked for',
    sentence: 'access token that gatehouse connect gives to a client',
    note: '[Agents](guides/clients.md)',
  }),
}
