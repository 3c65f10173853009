// Categories (MPI 4.0, section 15.3.9). The tables are constant, so the update number stays 0.
#include "mpi/tool/variable/category.hpp"

#include <algorithm>

#include "mpi/call/binding.hpp"
#include "mpi/tool/tool_call.hpp"
#include "mpi/tool/variable/control.hpp"

using namespace margay::mpi;

namespace {

// The number of rows of a category.
template <typename Rows>
int count_of(const Rows& rows, Category category) {
  return static_cast<int>(
      std::count_if(rows.begin(), rows.end(), [category](const auto& row) { return row.category == category; }));
}

// All other categories are below the first one.
int subcategories_of(Category category) {
  return category == Category::margay ? static_cast<int>(categories().size()) - 1 : 0;
}

// Returns the indices of the first `len` rows of a category.
template <typename Rows>
void give_indices(const Rows& rows, Category category, int len, int* indices) {
  int given = 0;
  for (std::size_t i = 0; i < rows.size() && given < len; ++i) {
    if (rows[i].category == category) indices[given++] = static_cast<int>(i);
  }
}

// Checks the arguments of a call that returns a list.
bool check_list(ToolCall& call, int cat_index, int len, const int* indices) {
  return call.check_index(cat_index, categories().size()) && call.check(len >= 0 && (indices != nullptr || len == 0));
}

}  // namespace

extern "C" int PMPI_T_category_get_num(int* num_cat) {
  ToolCall call;
  if (!call.check(num_cat != nullptr)) return call.error();
  *num_cat = static_cast<int>(categories().size());
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_category_get_num)

extern "C" int PMPI_T_category_get_info(int cat_index, char* name, int* name_len, char* desc, int* desc_len,
                                        int* num_cvars, int* num_pvars, int* num_categories) {
  ToolCall call;
  if (!call.check_index(cat_index, categories().size())) return call.error();
  const auto category = static_cast<Category>(cat_index);
  const CategoryText& text = categories()[static_cast<std::size_t>(cat_index)];
  give_text(text.name, name, name_len);
  give_text(text.description, desc, desc_len);
  give(num_cvars, count_of(control_variables(), category));
  give(num_pvars, count_of(performance_variables(), category));
  give(num_categories, subcategories_of(category));
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_category_get_info)

extern "C" int PMPI_T_category_get_index(const char* name, int* cat_index) {
  ToolCall call;
  if (!call.check(name != nullptr && cat_index != nullptr)) return call.error();
  const int found = index_of(categories(), name);
  if (!call.check(found >= 0, MPI_T_ERR_INVALID_NAME)) return call.error();
  *cat_index = found;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_category_get_index)

extern "C" int PMPI_T_category_get_cvars(int cat_index, int len, int indices[]) {
  ToolCall call;
  if (!check_list(call, cat_index, len, indices)) return call.error();
  give_indices(control_variables(), static_cast<Category>(cat_index), len, indices);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_category_get_cvars)

extern "C" int PMPI_T_category_get_pvars(int cat_index, int len, int indices[]) {
  ToolCall call;
  if (!check_list(call, cat_index, len, indices)) return call.error();
  give_indices(performance_variables(), static_cast<Category>(cat_index), len, indices);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_category_get_pvars)

extern "C" int PMPI_T_category_get_categories(int cat_index, int len, int indices[]) {
  ToolCall call;
  if (!check_list(call, cat_index, len, indices)) return call.error();
  const int subcategories = std::min(len, subcategories_of(static_cast<Category>(cat_index)));
  // Category 0 is the parent of all others.
  for (int i = 0; i < subcategories; ++i) indices[i] = i + 1;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_category_get_categories)

extern "C" int PMPI_T_category_get_num_events(int cat_index, int* num_events) {
  ToolCall call;
  if (!call.check_index(cat_index, categories().size()) || !call.check(num_events != nullptr)) return call.error();
  // There are no event types (event.cpp).
  *num_events = 0;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_category_get_num_events)

extern "C" int PMPI_T_category_get_events(int cat_index, int len, int indices[]) {
  ToolCall call;
  // Valid arguments get an empty list, so nothing is written.
  check_list(call, cat_index, len, indices);
  return call.error();
}
MARGAY_ALIAS(T_category_get_events)

extern "C" int PMPI_T_category_changed(int* update_number) {
  ToolCall call;
  if (!call.check(update_number != nullptr)) return call.error();
  *update_number = 0;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_category_changed)
