import { EVERY_COUNTRY } from '../config/parsers.ts';
import { chosenProvider, DELIVERY_CHANNELS, namesBut } from '../delivery/providers.ts';
import { type DoctorCheck, type Finding, warn } from './finding.ts';
import type { Examined } from './host.ts';

const EVERYWHERE = 'SMS go to every country: strangers can have the costliest ones sent, up to SMS_DAILY_MAX a day';

/** Checks of mail and SMS that send none. */
export function deliveryChecks({ config, fetch, clock, host }: Examined): readonly DoctorCheck[] {
  const outside = { config, fetch, clock, connect: host?.connect };
  return DELIVERY_CHANNELS.flatMap((channel) => {
    const provider = chosenProvider(channel, config);
    if (!provider) return [];
    const { name, setting, sent } = channel;
    const run = async (): Promise<readonly Finding[]> => {
      if (provider.prints)
        return [warn(name, `codes are printed instead of ${sent}`, `set ${setting} to ${namesBut(provider, channel)}`)];
      const found = (await provider.check?.(outside)) ?? [];
      const findings = found.map(({ state, ...result }) => ({
        ...result,
        name,
        state: state === 'skip' ? ('skipped' as const) : state,
      }));
      const isOpen = provider.costs && config.smsCountries.includes(EVERY_COUNTRY);
      return isOpen
        ? [...findings, warn(name, EVERYWHERE, 'set SMS_COUNTRIES to the countries of your users')]
        : findings;
    };
    return [{ name, remedy: provider.remedy, run }];
  });
}
