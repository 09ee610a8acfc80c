import type { Identifier } from './identifier.ts';

/** Handles that cannot be registered: they could pass for the service, its operator or a part of its URLs. */
const RESERVED_HANDLES: ReadonlySet<string> = new Set(
  `abuse account accounts admin administrator anonymous api app auth billing bot bundler console contact dashboard demo
  dev developer did docs email enclave everyone faq ftp guest help helpdesk hostmaster identity info localhost login
  logout mail mailer-daemon me metrics mod moderator no-reply nobody noreply null official operator owner pay payment
  payments phone postmaster privacy register registrar registry reserved root security service settings signin signup
  sms staff status superuser support sysadmin system team terms test undefined user username vault verify wallet
  webmaster well-known www you`.split(/\s+/),
);

/** The operator's own reservations: identifiers and domains in normal form. */
export interface ReservedSettings {
  readonly reservedIdentifiers: readonly string[];
  readonly reservedDomains: readonly string[];
}

/**
 * Whether the identifier is reserved: a built-in handle, in the operator's list, or a reserved local part at a
 * reserved domain.
 */
export function isReserved({ channel, value }: Identifier, settings: ReservedSettings): boolean {
  if (settings.reservedIdentifiers.includes(value)) return true;
  if (channel === 'handle') return RESERVED_HANDLES.has(value);
  if (channel !== 'email') return false;
  const at = value.lastIndexOf('@');
  const domain = value.slice(at + 1);
  const local = value.slice(0, at);
  return settings.reservedDomains.includes(domain) && RESERVED_HANDLES.has(local);
}
