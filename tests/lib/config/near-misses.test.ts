import { expect, test } from 'bun:test';
import { SETTING_NAMES } from '../../../lib/config/config.ts';
import { findNearMisses } from '../../../lib/config/near-misses.ts';

test.each([
  ['SMTP_UR', 'SMTP_URL'],
  ['EMAIL_PROVIDR', 'EMAIL_PROVIDER'],
  ['BASEURL', 'BASE_URL'],
  ['VAULT_SECERT', 'VAULT_SECRET'],
  ['VAULT_SECERT_FILE', 'VAULT_SECRET_FILE'],
  ['TRUSTED_PROXY', 'TRUSTED_PROXIES'],
  ['PROT', 'PORT'],
  ['base_url', 'BASE_URL'],
  ['VAULT_BASE_URL', 'BASE_URL'],
  ['SMTP_PASSWORD', 'SMTP_URL'],
])('%s is near %s', (written, meant) => {
  expect(findNearMisses([written])).toEqual([
    { name: written, problem: 'is not a setting', remedy: `did you mean ${meant}?` },
  ]);
});

test('a file for a setting that is not a secret would be ignored', () => {
  expect(findNearMisses(['PORT_FILE', 'SMTP_URL_FILE', 'RPC_URL_FILE'])).toEqual([
    { name: 'PORT_FILE', problem: 'is not read: PORT is not a secret', remedy: 'set PORT itself' },
  ]);
});

test('a setting that is gone is answered with what holds now', () => {
  expect(findNearMisses(['DKIM_DOMAIN'])).toEqual([
    {
      name: 'DKIM_DOMAIN',
      problem: 'is not a setting any more',
      remedy: 'remove it: mails are signed for the domain of EMAIL_FROM',
    },
  ]);
});

test('settings, and what systems, shells, containers and build machines set, are near nothing', () => {
  const others = `PATH HOME USER SHELL TERM LANG LC_ALL PWD OLDPWD SHLVL LOGNAME MAIL HOSTNAME HOSTTYPE OSTYPE TZ TMPDIR
    EDITOR PAGER DISPLAY COLUMNS LINES COLORTERM NO_COLOR FORCE_COLOR LS_COLORS SSH_AUTH_SOCK SSH_CLIENT SSH_TTY _
    SUDO_USER SUDO_COMMAND XDG_RUNTIME_DIR XDG_SESSION_ID XDG_DATA_DIRS DBUS_SESSION_BUS_ADDRESS BASH_ENV ENV PS1
    INVOCATION_ID JOURNAL_STREAM SYSTEMD_EXEC_PID NOTIFY_SOCKET MAINPID LISTEN_FDS LISTEN_PID STATE_DIRECTORY
    RUNTIME_DIRECTORY LOGS_DIRECTORY CACHE_DIRECTORY CONFIGURATION_DIRECTORY CREDENTIALS_DIRECTORY WATCHDOG_USEC
    KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT KUBERNETES_PORT KUBERNETES_PORT_443_TCP VAULT_SERVICE_HOST
    VAULT_SERVICE_PORT VAULT_PORT VAULT_PORT_8787_TCP VAULT_PORT_8787_TCP_ADDR POD_NAME POD_IP NODE_NAME CONTAINER
    CI GITHUB_ACTIONS GITHUB_TOKEN GITHUB_SHA RUNNER_OS NODE_ENV NODE_OPTIONS NODE_EXTRA_CA_CERTS NPM_TOKEN
    npm_config_registry npm_lifecycle_event BUN_INSTALL BUN_OPTIONS DENO_DIR HTTP_PROXY HTTPS_PROXY http_proxy no_proxy
    NO_PROXY ALL_PROXY SSL_CERT_FILE SSL_CERT_DIR AWS_REGION AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
    GOOGLE_APPLICATION_CREDENTIALS REDIS_URL MONGO_URL DB_HOST DB_NAME POSTGRES_PASSWORD PGHOST PGPORT DEBUG LOG_FILE
    APP APP_NAME APP_ENV SECRET_KEY SECRET TOKEN API_KEY APPDATA LOCALAPPDATA ProgramFiles SystemRoot COMPUTERNAME
    USERPROFILE PATHEXT WINDIR TEMP TMP MEMORY_PRESSURE_WATCH PYTHONPATH GOPATH JAVA_HOME CARGO_HOME VIRTUAL_ENV
    VAULT_ADDR VAULT_TOKEN VAULT_NAMESPACE DOCKER_HOST COMPOSE_PROJECT_NAME FLY_APP_NAME RENDER DYNO`;
  expect(findNearMisses(others.trim().split(/\s+/))).toEqual([]);
  expect(findNearMisses(SETTING_NAMES)).toEqual([]);
});
