import { systemClock } from '../../lib/base/clock.ts';
import { createMetrics } from '../../lib/base/metrics.ts';
import { systemRandom } from '../../lib/base/random.ts';
import type { Config } from '../../lib/config/config.ts';
import { createEmailSender } from '../../lib/delivery/email.ts';
import { createSmsProvider } from '../../lib/delivery/sms.ts';
import type { DoctorCheck } from '../../lib/doctor/finding.ts';
import { sendTest } from '../../lib/doctor/send-test.ts';
import type { Identifier } from '../../lib/identity/identifier.ts';
import { createPeople } from '../../lib/people.ts';
import { openMailer } from '../serve/mailer.ts';
import { operatorFiles } from '../setup/operator-files.ts';

/** The check that sends a test message, by the provider of a vault with these settings. */
export async function sendCheck(config: Config, to: Identifier): Promise<DoctorCheck> {
  const people = createPeople(config, operatorFiles);
  const mail = await openMailer(config);
  const outside = {
    ...{ config, fetch, clock: systemClock, random: systemRandom, metrics: createMetrics(), log: () => undefined },
    ...{ brandOf: people.brandOf, wordsOf: people.wordsOf },
  };
  return {
    name: to.channel === 'sms' ? 'sms' : 'mail',
    remedy: 'see docs/operating.md',
    async run() {
      try {
        const email = createEmailSender({ ...outside, mail });
        return [await sendTest({ ...outside, email, sms: createSmsProvider(outside) }, to)];
      } finally {
        await mail?.close();
      }
    },
  };
}
