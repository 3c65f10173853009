// Attributes of mailers. Functions throw Error, and require that the thread is inside.
#pragma once

#include "libraries/zipcode/session.hpp"

namespace margay::zipcode::core {

void check_key(const Session& session, int key);
// Deletes an attribute, if the mailer has it, and calls the key's function.
void delete_attribute(Session& session, ZIP_MAILER& mailer, int key);
// Deletes those of a mailer and its children.
void delete_attributes(Session& session, ZIP_MAILER& mailer);

}  // namespace margay::zipcode::core
