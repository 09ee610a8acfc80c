/** What a unit is written for. */
export interface UnitOptions {
  /** The program, by its absolute path. */
  readonly program: string;
  readonly configFile: string;
  readonly dataDir: string;
  readonly user: string;
  /** Further flags of `vault serve`. */
  readonly flags?: readonly string[];
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
  const { program, configFile, user, flags = [] } = options;
  return `[Unit]
Description=vault: registration and identity over HTTP
Wants=network-online.target
After=network-online.target
# A start that fails is tried again for as long as the cause may pass, such as a server of the database that is away.
StartLimitIntervalSec=0

[Service]
# The vault does not notify systemd: ask its /readyz whether it serves.
Type=exec
ExecStart=${[program, 'serve', '--config', configFile, ...flags].join(' ')}
User=${user}
Group=${user}
UMask=0077
${placeLines(options)}

Restart=on-failure
RestartSec=2
# Settings that are refused stay refused.
RestartPreventExitStatus=2
# A vault answers what it has begun for at most five seconds.
TimeoutStopSec=15
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
SystemCallErrorNumber=EPERM
# Not MemoryDenyWriteExecute: the JavaScript engine writes the code that it then runs, and ends at its start with it.

[Install]
WantedBy=multi-user.target
`;
}

/** Below /var/lib systemd makes the directory and gives it to the user; elsewhere it must be there. */
function placeLines({ dataDir }: UnitOptions): string {
  if (!dataDir.startsWith(STATE)) return `ReadWritePaths=${dataDir}\nWorkingDirectory=${dataDir}`;
  return `StateDirectory=${dataDir.slice(STATE.length)}\nStateDirectoryMode=0700\nWorkingDirectory=${dataDir}`;
}

/** `PrivateUsers` would take the capability away where it is needed. */
function capabilityLines({ isPortPrivileged = false }: UnitOptions): string {
  if (!isPortPrivileged) return 'CapabilityBoundingSet=\nAmbientCapabilities=\nPrivateUsers=yes';
  return 'CapabilityBoundingSet=CAP_NET_BIND_SERVICE\nAmbientCapabilities=CAP_NET_BIND_SERVICE';
}
