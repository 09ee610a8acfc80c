/** The parameters of a unit. */
export interface UnitOptions {
  /** The program, by its absolute path. */
  readonly program: string;
  readonly configFile: string;
  readonly dataDir: string;
  readonly user: string;
  /** Further folders that it writes to. */
  readonly writable?: readonly string[];
  /** Whether it listens on a port below 1024. */
  readonly isPortPrivileged?: boolean;
}

/** The unit of a package: its paths are where Debian's rules want them. */
export const PACKAGED: UnitOptions = {
  program: '/usr/bin/vault',
  configFile: '/etc/vault/vault.env',
  dataDir: '/var/lib/vault',
  user: 'vault',
};

const STATE = '/var/lib/';

/**
 * A systemd unit (systemd.exec(5)) in which the vault may do what it does and nothing else. Paths must be without
 * spaces and `%`.
 */
export function unitText(options: UnitOptions): string {
  const head = '[Unit]\nDescription=vault: registration and identity over HTTP';
  return `${head}\n${bodyText(options, ['serve'])}${INSTALL}`;
}

const INSTALL = '\n[Install]\nWantedBy=multi-user.target\n';

/**
 * The unit `vault@PORT.service`: a second vault on the same data, which serves on `PORT` while the first is upgraded.
 * Its operator's listener has a port of its own, as the first holds `ADMIN_PORT`.
 */
export function secondUnitText(options: UnitOptions): string {
  const head = '[Unit]\nDescription=vault on port %i, while vault.service is upgraded';
  return `${head}\n${bodyText(options, ['serve', '--port', '%i', '--admin-port', '0'])}`;
}

/** The unit `vault-backup.service`: backups in a place, which is a folder or `s3://BUCKET/PREFIX`, again and again. */
export function backupUnitText(options: UnitOptions, place: string, every: string): string {
  const head = '[Unit]\nDescription=vault: backups, again and again\nAfter=vault.service';
  const writable = [...(options.writable ?? []), ...(place.startsWith('/') ? [place] : [])];
  return `${head}\n${bodyText({ ...options, writable }, ['backup', '--every', every, '--to', place])}${INSTALL}`;
}

function bodyText(options: UnitOptions, [command = '', ...flags]: readonly string[]): string {
  const { program, configFile, user } = options;
  const isServing = command === 'serve';
  return `Wants=network-online.target
After=network-online.target
# A start that fails is tried again for as long as the cause may pass, such as a server of the database that is away.
StartLimitIntervalSec=0

[Service]${isServing ? '\n# The vault does not notify systemd: ask its /readyz whether it serves.' : ''}
Type=exec
ExecStart=${[program, command, '--config', configFile, ...flags].join(' ')}
User=${user}
Group=${user}
UMask=0077
${placeLines(options)}

Restart=on-failure
RestartSec=2
# Settings that are refused stay refused.
RestartPreventExitStatus=2
${isServing ? '# A vault answers what it has begun for at most five seconds.\n' : ''}TimeoutStopSec=15
LimitNOFILE=65536
# A dump of the memory holds secrets.
LimitCORE=0

${capabilityLines(options)}
NoNewPrivileges=yes
KeyringMode=private
LockPersonality=yes
PrivateDevices=yes
DevicePolicy=closed
PrivateTmp=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHome=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
ProtectSystem=strict
RemoveIPC=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
# The thread that writes lowers its own priority.
SystemCallFilter=setpriority
SystemCallErrorNumber=EPERM
# Not MemoryDenyWriteExecute: the engine then cannot run the code that it compiles, and takes five times as long.
`;
}

/** Below /var/lib systemd makes the directory and gives it to the user; elsewhere it must be there. */
function placeLines({ dataDir, writable = [] }: UnitOptions): string {
  const isState = dataDir.startsWith(STATE);
  const others = isState ? writable : [dataDir, ...writable];
  return [
    ...(isState ? [`StateDirectory=${dataDir.slice(STATE.length)}`, 'StateDirectoryMode=0700'] : []),
    ...(others.length > 0 ? [`ReadWritePaths=${others.join(' ')}`] : []),
    `WorkingDirectory=${dataDir}`,
  ].join('\n');
}

/** `PrivateUsers` would take the capability away where it is needed. */
function capabilityLines({ isPortPrivileged = false }: UnitOptions): string {
  if (!isPortPrivileged) return 'CapabilityBoundingSet=\nAmbientCapabilities=\nPrivateUsers=yes';
  return 'CapabilityBoundingSet=CAP_NET_BIND_SERVICE\nAmbientCapabilities=CAP_NET_BIND_SERVICE';
}
