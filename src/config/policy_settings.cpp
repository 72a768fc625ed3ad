#include "config/policy_settings.hpp"

namespace oncegate::config {

const std::vector<Setting>& policy_settings() {
    static const std::vector<Setting> all = [] {
        std::vector<Setting> rows;
        for (auto group : {mode_settings, key_settings, scope_settings, fingerprint_settings, life_settings,
                           record_settings, replay_settings, error_settings, later_settings}) {
            for (auto& setting : group()) rows.push_back(std::move(setting));
        }
        return rows;
    }();
    return all;
}

}  // namespace oncegate::config
